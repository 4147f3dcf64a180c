"""A model of tester, gateway and noise on one time line, and the rules that judge its trials."""
