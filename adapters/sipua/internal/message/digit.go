package message

import (
	"strings"

	"github.com/emiago/sipgo/sip"
)

// The media types of digits in INFO. Neither is in a standard; gateways of Cisco brought the first, and others the second.
const (
	dtmfRelay = "application/dtmf-relay"
	dtmfPlain = "application/dtmf"
)

// ReadDigit returns the digit of an INFO, 0 for one without a digit such as a flash, and the response to it.
func ReadDigit(req *sip.Request) (digit byte, r Refusal) {
	kind, _, _ := strings.Cut(valueOf(req, "Content-Type", "c"), ";")
	text := strings.TrimSpace(string(req.Body()))
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case text == "":
		return 0, Refusal{Status: sip.StatusOK} // it asks whether the call lives (RFC 2976, 2.2)
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

// signalOf returns the signal of a dtmf-relay body, which has lines such as "Signal= 5" and "Duration=160".
func signalOf(text string) string {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(name), "signal") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// digitOf returns the digit of a signal: as it is, or by the number of its event (RFC 4733, 3.2). A flash is no digit.
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
