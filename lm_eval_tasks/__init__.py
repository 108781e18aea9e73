"""Task pack for the LM Evaluation Harness: TCP, Test of Time and TimeBench."""
