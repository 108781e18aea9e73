"""What runs score: rows of figures, what makes them worthless, and how they are cited."""
