"""Bugs whose lock is the same as their twin's, each with the reason; and programs whose lock is not the same in every
run. `make lock-check` looks at all programs and fails on one that is not listed."""

from __future__ import annotations

NUMBERS = "numbers differ, and nothing else: the same losses reach the same networks by the same ways"
EXPERIENCE = "rewards, ends or rows are put together otherwise; the gradient flows the same way"
MEMORY = "what is kept alive is no part of any loss"
MOMENT = "the same is computed at another moment"
WRITTEN = "a value is overwritten where nobody sees it; what it flows into is the same"
BY_HAND = "what the script itself does with gradients between backward and step is not followed"

FITTED = "a cross-entropy counts as a fit, whichever sign its loss gives it"
ALIASED = "plain tensors that share their memory with parameters are no network of their own"
INSIDE = "what a backward of the script's own makes of its gradients is not followed"

MASKS = "the same rows and tokens, weighed otherwise; the gradient flows the same way"
MEMBERS = "the members of a list are one network, and what is constant is told by the network"

SAME: dict[str, str] = {
    "ensemble_minimum_of_one_member": MEMBERS,
    "advantages_handed_in_as_the_mask": MASKS,
    "penalty_counts_the_padding": MASKS,
    "running_count_taken_for_a_mask": MASKS,
    "n_step_queue_runs_into_the_next_episode": EXPERIENCE,
    "n_step_sums_from_a_ring_buffer": EXPERIENCE,
    "n_step_target_without_its_end": EXPERIENCE,
    "adapters_averaged_per_micro_batch": NUMBERS,
    "adapters_cast_to_bfloat16_with_the_model": NUMBERS,
    "functional_target_from_detached_parameters": ALIASED,
    "fused_loss_drops_its_auxiliary_output": INSIDE,
    "gae_takes_the_value_of_its_own_state": EXPERIENCE,
    "numpy_target_without_done": EXPERIENCE,
    "ppo_ends_one_step_off": EXPERIENCE,
    "returns_of_zero_advantages": EXPERIENCE,
    "advantage_too_large_for_its_exponential": NUMBERS,
    "advantages_normalised_over_one_trajectory": NUMBERS,
    "atanh_of_a_stored_action": NUMBERS,
    "baseline_average_with_graph": MEMORY,
    "centred_along_a_column": EXPERIENCE,
    "clamp_of_gradient_bound_to_a_name": BY_HAND,
    "clipped_action_is_scored": EXPERIENCE,
    "critic_bootstraps_at_the_goal": EXPERIENCE,
    "dead_output_relu": NUMBERS,
    "descent_by_hand_without_a_new_backward": BY_HAND,
    "distance_of_equal_embeddings": NUMBERS,
    "dqn_target_without_done": EXPERIENCE,
    "dropout_on_while_learning_from_a_rollout": NUMBERS,
    "episode_statistics_in_a_dictionary": MEMORY,
    "expectile_of_clamped_error": NUMBERS,
    "gae_not_cut_at_the_end": EXPERIENCE,
    "goal_embedding_stepped_between": MOMENT,
    "group_advantage_of_one_sample": NUMBERS,
    "half_precision_critic_under_plain_descent": NUMBERS,
    "log_std_head_starts_beyond_its_clamp": NUMBERS,
    "loss_curve_of_live_losses": MEMORY,
    "minus_drawn_into_the_minimum": NUMBERS,
    "noise_scaled_by_the_spread_of_one_bias": NUMBERS,
    "normaliser_updated_during_the_rollout": EXPERIENCE,
    "old_log_prob_recomputed_every_epoch": MOMENT,
    "old_policy_synced_before_every_minibatch": MOMENT,
    "polyak_weights_exchanged": NUMBERS,
    "ppo_rollout_summed_over_ends": EXPERIENCE,
    "ratio_overflows_late": NUMBERS,
    "reference_scored_with_dropout": NUMBERS,
    "replay_of_transitions_with_live_values": MEMORY,
    "retain_graph_out_of_habit": MEMORY,
    "returns_left_in_reverse_order": EXPERIENCE,
    "returns_run_across_episodes": EXPERIENCE,
    "reward_tokens_ignored_per_micro_batch": NUMBERS,
    "rewards_discounted_but_not_summed": EXPERIENCE,
    "ring_buffer_overwritten_under_the_graph": WRITTEN,
    "running_loss_kept_with_its_graph": MEMORY,
    "sigmoid_tower_of_a_value_network": NUMBERS,
    "soft_target_entropy_outside_the_mask": EXPERIENCE,
    "stack_of_large_layers_explodes": NUMBERS,
    "surprise_for_a_log_prob": FITTED,
    "tanh_policy_on_raw_observations": NUMBERS,
    "target_synced_in_the_warm_up_only": MOMENT,
    "target_synced_where_the_counter_is_equal": MOMENT,
    "time_limit_taken_for_an_end": EXPERIENCE,
    "token_mean_of_each_micro_batch": NUMBERS,
    "token_means_weighted_by_samples": NUMBERS,
    "token_ratio_of_the_model_with_itself": MOMENT,
    "vector_env_reuses_observation_array": WRITTEN,
    "weight_norm_projected_through_data": WRITTEN,
    "world_model_explodes_through_its_horizon": NUMBERS,
}
UNSTABLE: dict[str, str] = {
    "agent_cloned_by_evolution_keeps_the_parents_optimizer_fixed": "which agent is cloned is drawn by lot",
    "phases_and_clones_with_their_own_optimizers": "the clones of the last generation are traced in deep mode only",
    "workers_mean_applied_by_hand": "what is done by hand with copies of one round is seen in deep mode only",
    "numbers_that_come_back": "a factor is a number of the run, and its sign depends on the seed",
    "graphs_that_live_for_a_while": "a leaf that is made anew in every round is traced in deep mode only",
}
