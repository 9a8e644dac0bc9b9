package header

// Rule maps one header. Exactly one of its fields must be set.
type Rule struct {
	Custom *Custom
	UUI    *UUI
}

// Custom maps a custom header to a variable, or sets a constant.
//
// On an inbound trunk, Key is a header and Value the variable that receives its content; with Passthrough, Key is a variable and Value the
// constant that every call assigns to it. On an outbound trunk, Key is a variable and Value the header that contains it; with Passthrough,
// Key is a header and Value its constant content.
type Custom struct {
	Key, Value  string
	Passthrough bool
}

// UUI maps User-to-User information (RFC 7433) of an incoming call to the variable Target, or this variable to the information that an
// outgoing call sends.
type UUI struct {
	Target   string
	Purpose  string // purpose parameter; if empty, none is sent and any is accepted
	Encoding string // Hex, or empty for a quoted string
	Content  string // content parameter, such as "isdn-uui"; if empty, none is sent and any is accepted
}

// Header is one header field of a message.
type Header struct{ Name, Value string }

// Hex is the value of UUI.Encoding for hexadecimal encoding (RFC 7433).
const Hex = "hex"

// Limits of rules and header values.
const (
	MaxRules    = 50
	MaxName     = 128  // characters of a variable, a header name or a parameter
	MaxConstant = 1000 // characters of a constant
	MaxValue    = 4096 // bytes of a header value; enough for any constant
)
