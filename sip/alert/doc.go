// Package alert decides when the owner of a trunk is to be warned, once an edge: when a threshold is crossed, and when
// that is over. A trunk that flaps does not flood anybody.
package alert
