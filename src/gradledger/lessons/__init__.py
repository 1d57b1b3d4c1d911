"""The course: lessons, myths, quiz and playground, in which PyTorch computes every claim."""
