// Package pathwaysapi serves the operations of pathways, their versions and text chats with them.
package pathwaysapi
