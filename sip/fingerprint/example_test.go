package fingerprint_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/fingerprint"
)

func Example() {
	guess := fingerprint.Identify([]fingerprint.Header{
		{Name: "Server", Value: "Asterisk PBX 20.9.3"},
		{Name: "Supported", Value: "100rel, timer, replaces, norefersub"},
	})
	fmt.Println(guess.System, guess.Version, guess.Confidence)
	for _, line := range guess.Evidence {
		fmt.Println("-", line)
	}
	// Output:
	// Asterisk 20.9.3 0.9
	// - the Server header has the form that Asterisk sends
	// - the Supported header lists what Asterisk lists, in its way
}
