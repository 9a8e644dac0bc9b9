// Package group runs scenarios together: a batch runs each of several scenarios once, and a simulation set many times, so that its
// statistics say how often what happens.
//
// A Service is a run.Service that also starts, reads, cancels and watches groups. It finds out why results of a set vary, is the
// gate of promotions (pathway.Gate), and runs the trials of tornado sessions.
package group
