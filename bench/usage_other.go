//go:build !linux

package main

import "errors"

func usageOf(int) (usage, error) {
	return usage{}, errors.New("what a process uses is read from the kernel in ways only Linux has")
}
