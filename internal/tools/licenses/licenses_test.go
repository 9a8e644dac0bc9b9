package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

func TestLicencesOf(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		files map[string]string
		want  string // text that the licenses, joined by AND, or the error must contain
	}{
		"its own":          {map[string]string{"LICENSE": mit, "main.go": "package main"}, "MIT"},
		"British":          {map[string]string{"licence.txt": mit}, "MIT"},
		"of what is in it": {map[string]string{"COPYING": mit, "LICENSE-3RD-PARTY.md": "Some words, of " + strings.Repeat("x ", 2000) + mit}, "MIT"},
		"unknown":          {map[string]string{"LICENSE": "Do what you like on Tuesdays."}, "is no licence that is known"},
		"none":             {map[string]string{"README.md": mit}, "there is no licence"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ids, err := licencesOf(folder)
			got := strings.Join(ids, " AND ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
