// Package mail sends mail over SMTP. For deployments without a mail server, it writes mail to a folder as .eml files, which mail programs
// can open.
package mail
