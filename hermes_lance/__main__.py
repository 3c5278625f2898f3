"""`python -m hermes_lance`: the command line."""

from hermes_lance.hosts.cli.main import process

if __name__ == "__main__":
    process()
