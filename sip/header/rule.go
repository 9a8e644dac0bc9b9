package header

// Rule maps one header. Exactly one of its kinds is set.
type Rule struct {
	Custom *Custom
	UUI    *UUI
}

// Custom is a header of the two sides' own.
//
// Of an inbound trunk Key is the header and Value the variable that takes its content; with Passthrough Value is a
// constant that the variable named Key gets on every call. Of an outbound trunk Key is the variable and Value the header;
// with Passthrough Key is the header and Value a constant.
type Custom struct {
	Key, Value  string
	Passthrough bool
}

// UUI is User-to-User information, whose content goes into or comes from the variable Target.
type UUI struct {
	Target   string
	Purpose  string // the purpose parameter; empty: none is sent, any is taken
	Encoding string // "hex", or empty for text in quotes
	Content  string // the content parameter, such as "isdn-uui"; empty: none is sent, any is taken
}

// Header is one header of a message.
type Header struct{ Name, Value string }

// Hex is the encoding that RFC 7433 names, as UUI has it.
const Hex = "hex"

// The bounds of rules, and of what they carry.
const (
	MaxRules = 50
	MaxName  = 128  // bytes of a variable's or a header's name, or of a parameter
	MaxValue = 2048 // bytes of a header's value or of a constant
)
