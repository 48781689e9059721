"""What can go wrong with a course folder, as one sentence for the person who has to mend it."""

from __future__ import annotations


class CourseError(Exception):
    """The course cannot go on; the message says why and what to do. Shown without a traceback."""
