package mail_test

import (
	"context"
	"fmt"
	"os"

	"github.com/callwright/callwright/adapters/mail"
)

func ExampleFolder() {
	path, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(path) }()
	folder, err := mail.NewFolder(mail.FolderConfig{Path: path, From: "callwright@example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = folder.SendMail(context.Background(), "notice-1", "ada@example.com", "A trunk is unreachable", "Since 10:00.")
	messages, _ := os.ReadDir(path)
	fmt.Println(len(messages), err, folder.Close())
	// Output: 1 <nil> <nil>
}
