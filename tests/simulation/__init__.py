"""A model of tester, gateway and noise on one time line, and which losses count, frame by frame."""
