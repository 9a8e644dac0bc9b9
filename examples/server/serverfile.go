package main

import (
	"encoding/json"
	"path/filepath"
)

// serverFile tells the tools of this machine where the server is; it is written when the server is ready.
type serverFile struct {
	APIURL       string `json:"api_url"`
	SIPURI       string `json:"sip_uri"`
	CAFile       string `json:"ca_file"`
	APIKeyFile   string `json:"api_key_file"` // empty: no key was made in this data folder
	DashboardURL string `json:"dashboard_url"`
	PID          int    `json:"pid"`
}

func serverFilePath(c config) string { return filepath.Join(c.Data, "server.json") }

// write replaces the file at once, so that nobody reads half of it.
func (f serverFile) write(path string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}
