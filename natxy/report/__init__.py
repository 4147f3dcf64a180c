"""Tables and files: functions of stored results."""
