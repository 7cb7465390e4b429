"""What is the book's own: its texts, its trained models and how they were trained, its exercises.

The rooms, from the ground up: `corpora`, `smollm`, `recipes`, `metrics`, `apps`, `bench`,
`exercises`, and `site`. Each imports only from those before it, and from `glassformer`.
"""
