// Package mail sends mail over SMTP or, where there is no mail server, writes it to a folder as .eml files, which mail
// programs open.
package mail
