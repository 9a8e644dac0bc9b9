package callwright_test

import (
	"testing"

	"github.com/callwright/callwright"
)

func TestParseNetwork(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "192.0.2.7/24": "192.0.2.0/24", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8::1/32": "2001:db8::/32",
		"fe80::1%eth0": "", "office": "", "": "", "192.0.2.0/33": "",
	} {
		got, err := callwright.ParseNetwork(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want || err != nil && callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}
