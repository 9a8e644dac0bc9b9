// Package examples contains a program for each use of this module. server, softphone and demo are complete programs. Each embed-* program
// shows how to use one domain inside your own program.
package examples
