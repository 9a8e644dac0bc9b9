// Package auth implements digest access authentication for SIP (RFC 3261, section 22; RFC 8760). [Answers] answers the challenges of
// servers and proxies. [Challenger] challenges callers whose trunk has credentials, and checks their answers.
package auth
