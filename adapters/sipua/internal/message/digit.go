package message

import (
	"strings"

	"github.com/emiago/sipgo/sip"
)

// The media types of digits in INFO. Neither is standardized: Cisco gateways use application/dtmf-relay, other gateways application/dtmf.
const (
	dtmfRelay = "application/dtmf-relay"
	dtmfPlain = "application/dtmf"
)

// ReadDigit returns the digit in an INFO and the response to it. The digit is 0 if the INFO is invalid or contains none, for example for a
// flash.
func ReadDigit(req *sip.Request) (digit byte, r Refusal) {
	kind, _, _ := strings.Cut(valueOf(req, "Content-Type", "c"), ";")
	text := strings.TrimSpace(string(req.Body()))
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case text == "":
		return 0, Refusal{Status: sip.StatusOK} // an empty INFO checks whether the call exists (RFC 2976, 2.2)
	case kind == dtmfPlain:
		text = firstLine(text)
	case kind == dtmfRelay:
		text = signalOf(text)
	default:
		return 0, Refusal{Status: sip.StatusUnsupportedMediaType, Headers: []sip.Header{
			sip.NewHeader("Accept", dtmfRelay+", "+dtmfPlain), sip.NewHeader("Accept-Encoding", "identity"),
		}}
	}
	digit, known := digitOf(text)
	if !known {
		return 0, Refusal{Status: sip.StatusBadRequest}
	}
	return digit, Refusal{Status: sip.StatusOK}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// signalOf returns the signal in a dtmf-relay body, which consists of lines like "Signal= 5" and "Duration=160". It returns an empty text
// if there is none.
func signalOf(text string) string {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(name), "signal") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// digitOf returns the digit of a signal, which is the digit itself or its event number (RFC 4733, 3.2). For a flash it returns 0 and true.
func digitOf(signal string) (digit byte, known bool) {
	const events, digits = "0123456789", "0123456789*#ABCD"
	switch signal = strings.ToUpper(signal); {
	case signal == "!" || signal == "16" || signal == "FLASH" || signal == "HF":
		return 0, true
	case len(signal) == 1 && strings.Contains(digits, signal):
		return signal[0], true
	case len(signal) == 2 && signal[0] == '1' && signal[1] <= '5' && strings.IndexByte(events, signal[1]) >= 0:
		return digits[10+signal[1]-'0'], true
	}
	return 0, false
}
