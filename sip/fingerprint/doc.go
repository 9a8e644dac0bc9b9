// Package fingerprint identifies the system that sent a SIP response by its headers, with a confidence and the evidence.
package fingerprint
