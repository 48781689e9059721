"""`gradsan learn`: a course in the terminal. Only the checking child process imports torch."""
