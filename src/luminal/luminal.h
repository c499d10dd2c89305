#pragma once
/// Everything a user needs.
#include "luminal/frontend/graph.h"
#include "luminal/frontend/tensor.h"
#include "luminal/support/error.h"
