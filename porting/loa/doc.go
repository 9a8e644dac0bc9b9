// Package loa has letters of authorization signed electronically.
//
// A letter says that the authorized representative of an account lets its numbers be ported. The representative gets a link by mail, reads
// the letter as a PDF whose bytes never change, and signs by typing a name and consenting, or declines. The signed PDF is the letter with
// a certificate page. What happens to a letter is recorded in an audit trail whose entries are chained by their hashes: Verify checks
// one without a server.
package loa
