// Package mail sends mail: over SMTP, or, where there is no mail server, into a folder as .eml files that a mail program
// opens.
package mail
