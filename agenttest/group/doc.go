// Package group runs scenarios in groups. A batch runs each of several scenarios once; a simulation set runs each of them many times, for
// statistics.
//
// A Service is a run.Service that also starts, reads, cancels and watches groups. It attributes the variation in a set to a source,
// implements the gate of promotions (pathway.Gate), and executes the trials of tornado sessions.
package group
