package storagetest

import "github.com/swapper-go/swapper/storage"

// Memory is [storage.Memory], under the name that tests know it by.
type Memory = storage.Memory
