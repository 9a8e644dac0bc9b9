package sdp

import (
	"fmt"

	"github.com/callwright/callwright"
)

// Rejection says why a description cannot be used and which SIP response tells the peer. An offer is refused with the
// response; after an unusable answer the call is acknowledged and ended. Find one in an error with errors.As.
type Rejection struct {
	Status  int    // SIP status: 400 or 488
	Warning int    // Warning header code of RFC 3261, 20.43; 0 for none
	Text    string // fixed text, safe in a header
}

// The rejections. Errors of Parse, Answer and Accept wrap one of them.
var (
	ErrMalformed     = &Rejection{Status: 400, Text: "Malformed session description"}
	ErrNoAudio       = &Rejection{Status: 488, Warning: 304, Text: "Media type not available: one audio stream is required"}
	ErrNoSRTP        = &Rejection{Status: 488, Warning: 399, Text: "SRTP is required: RTP/SAVP with a=crypto " + Suite}
	ErrAddress       = &Rejection{Status: 488, Warning: 301, Text: "Incompatible network address format"}
	ErrNoCommonCodec = &Rejection{Status: 488, Warning: 305, Text: "Incompatible media format: no common codec"}
)

// Error is the fixed text.
func (r *Rejection) Error() string { return r.Text }

// Unwrap gives the code that a domain's caller sees: what the peer sent breaks a rule.
func (r *Rejection) Unwrap() error { return callwright.ErrBadRequest }

func malformed(line int, format string, args ...any) error {
	return fmt.Errorf("sdp line %d: %s: %w", line, fmt.Sprintf(format, args...), ErrMalformed)
}
