// Package loa has letters of authorization signed electronically.
//
// A letter says that the authorized representative of an account lets its numbers be ported. The representative gets a link by mail, reads
// the letter as a PDF whose bytes never change, and signs by typing a name and consenting, or declines. The signed PDF is the letter with
// a certificate page. What happens to a letter is recorded in an audit trail whose entries are chained by their hashes: Verify checks
// one without a server.
//
// A Service and a porting.Service need each other, so that a program makes the one, gives it to the other, and attaches that:
//
//	letters, err := loa.New(loa.Config{...})
//	ports, err := porting.New(porting.Config{Letters: letters, ...})
//	letters.Attach(ports)
//
// A letter waits until it ends, for good:
//
//	waiting ─┬─ signed    the port request is submitted in the same transaction
//	         ├─ declined  the port request is canceled in the same transaction
//	         └─ revoked   the port request was canceled, has expired, or was signed on paper
//
// The link of a letter that has ended shows how, and a signed letter can be downloaded there. A mail that is sent again ends the link
// before. Mails are durable work: each has an id that is the same however often it is sent, and one about a letter that has ended, or
// with a link that was replaced, is not sent.
package loa
