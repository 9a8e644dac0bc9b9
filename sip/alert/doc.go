// Package alert is the state machine of a trunk's alerts. An alert is raised when a threshold has been crossed for long enough, and
// resolved when the threshold has not been crossed for [ClearFor]. Each raising and each resolution produces one notice. A resolved alert
// is not raised again for [Quiet], so that a flapping trunk causes few notices.
package alert
