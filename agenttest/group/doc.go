// Package group runs scenarios together: a batch runs each of several scenarios once, and a simulation set many times, for
// statistics.
//
// A Service is a run.Service that also starts, reads, cancels and watches groups. It finds the source of variation in a set, is the
// gate of promotions (pathway.Gate), and runs the trials of tornado sessions.
package group
