// Package loa collects electronic signatures for letters of authorization.
//
// With a letter, the authorized representative of an account permits the port of its numbers. The representative receives a link by mail,
// reads the letter as a PDF whose bytes never change, and either signs it, by typing a name and consenting, or declines. The signed PDF is
// the letter with a certificate page. An audit trail records all events of a letter in entries that are chained by their hashes. Verify
// checks a trail without a server.
//
// A Service and a porting.Service need each other. A program creates the loa.Service, passes it to porting.New, and attaches the
// porting.Service:
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
// After a letter has ended, its link shows the final state, and a signed letter can be downloaded there. A new link replaces the previous
// one. Mails are durable work: each has an id that is the same at every attempt. Mails that ask for a signature are not sent after the
// letter has ended or its link was replaced.
package loa
