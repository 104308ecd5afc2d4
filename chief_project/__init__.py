"""Wiring: settings, urls, the servers and the commands that belong to no single app."""
