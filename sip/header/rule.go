package header

// Rule maps one header. Exactly one of its fields is set.
type Rule struct {
	Custom *Custom
	UUI    *UUI
}

// Custom maps a custom header.
//
// On an inbound trunk, Key names the header and Value the variable that receives its content; with Passthrough, Key names
// a variable and Value is the constant that it receives on every call. On an outbound trunk, Key names the variable and
// Value the header; with Passthrough, Key names the header and Value is a constant.
type Custom struct {
	Key, Value  string
	Passthrough bool
}

// UUI maps User-to-User information to or from the variable Target.
type UUI struct {
	Target   string
	Purpose  string // the purpose parameter; empty: none is sent, any is accepted
	Encoding string // "hex", or empty for a quoted string
	Content  string // the content parameter, such as "isdn-uui"; empty: none is sent, any is accepted
}

// Header is one header of a message.
type Header struct{ Name, Value string }

// Hex is the encoding of RFC 7433, for UUI.Encoding.
const Hex = "hex"

// The limits of rules and of their contents.
const (
	MaxRules    = 50
	MaxName     = 128  // characters of a variable's or a header's name, or of a parameter
	MaxConstant = 1000 // characters
	MaxValue    = 4096 // bytes of a header's value, so that each constant fits
)
