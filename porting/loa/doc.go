// Package loa gets letters of authorization signed electronically.
//
// A letter says that the authorized representative of an account lets its numbers be ported. The representative gets a link by
// mail, reads the letter as a PDF whose bytes never change, and signs by typing a name and consenting, or declines. The signed PDF
// is the letter with a certificate page. All events of a letter are recorded in an audit trail whose entries are chained by their
// hashes. Verify checks a trail without a server.
//
// A Service and a porting.Service need each other. A program creates the first, passes it to the second, and attaches the second:
//
//	letters, err := loa.New(loa.Config{...})
//	ports, err := porting.New(porting.Config{Letters: letters, ...})
//	letters.Attach(ports)
//
// A letter waits until it reaches a final state:
//
//	waiting ─┬─ signed    the port request is submitted in the same transaction
//	         ├─ declined  the port request is canceled in the same transaction
//	         └─ revoked   the port request was canceled, has expired, or was signed on paper
//
// The link of a letter that has ended shows its end, and a signed letter can be downloaded there. A new link replaces the previous
// one. Mails are durable work: each has an id that is the same at every attempt. Mails about letters that have ended, or with a
// replaced link, are not sent.
package loa
