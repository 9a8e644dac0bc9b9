// Package fingerprint tells from the headers of a SIP answer which system gave it, how sure that is, and why.
package fingerprint
