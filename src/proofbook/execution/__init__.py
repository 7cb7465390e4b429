"""Running pages, each in a process of its own."""
