// Package examples has a program for each way to use this module: server, softphone and demo are whole programs, the
// embed-* programs show one domain each inside a program of one's own.
package examples
