// Package ladder is the message sequence of a SIP call: who sent what when, without a secret in it.
package ladder
