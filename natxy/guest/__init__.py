"""A virtual machine for gateways that this machine's kernel does not have, such as Jool."""
