"""`python -m gradsan` is the same as `gradsan`."""

from gradsan.cli import main

if __name__ == "__main__":
    main(prog_name="gradsan")
