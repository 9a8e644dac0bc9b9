// Package alert is the state machine of a trunk's alerts: when a threshold is crossed for long enough the alert is raised,
// and when it has not been crossed for [ClearFor] the alert is resolved. Each edge makes one notice. After an alert is
// resolved it stays quiet for [Quiet], so that a flapping trunk makes few notices.
package alert
