// Package expect describes the answers that an agent expects from a caller, such as a number of ten digits. Recognizers and endpointing
// use the description.
package expect

// Kind is the form of an expected answer.
type Kind string

// The kinds of answers.
const (
	Free     Kind = ""         // any words
	Digits   Kind = "digits"   // a number that is read digit by digit, or in groups
	Spelling Kind = "spelling" // a name or a code that is spelled
	YesNo    Kind = "yes_no"   // consent or refusal
	Date     Kind = "date"     // a date or a time
	Email    Kind = "email"    // an e-mail address
	Address  Kind = "address"  // a postal address
)

// Answer describes an expected answer. The zero Answer expects any words.
type Answer struct {
	Kind     Kind
	Min, Max int // number of digits or letters for Digits and Spelling; 0 means unknown
}
