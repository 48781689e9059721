"""How closely to look, and when."""
