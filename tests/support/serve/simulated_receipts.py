"""Receipts taken apart, and forged."""

import base64
import json


def made_by(receipt):
    """Return whether the policy was active, and the process that made the receipt."""
    return json.loads(unpacked(receipt))[-2:]


def unpacked(receipt):
    return base64.urlsafe_b64decode(receipt.split(".")[1] + "===")


def forged(receipt):
    """Return the receipt with another propensity and the old seal."""
    body = json.loads(unpacked(receipt))
    body[5] = body[5] / 2
    text = base64.urlsafe_b64encode(json.dumps(body, separators=(",", ":")).encode()).decode().rstrip("=")
    return f"hsb1.{text}.{receipt.split('.')[2]}"
