"""gradsan inside other people's training loops. Each module imports its library; import the one you need.

from gradsan.integrations.loop import watched
from gradsan.integrations.stable_baselines3 import GradsanCallback
from gradsan.integrations.lightning import GradsanCallback
"""
