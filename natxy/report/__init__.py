"""Tables and files: functions of stored results. And what a person sees meanwhile."""
