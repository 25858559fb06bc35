"""rollwise"""
