# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What any project has; only CXX is ours.
app2: main.o scale.o
	$(CXX) $^ -o $@
%.o: %.cpp
	$(CXX) $(CXXFLAGS) -MMD -c $< -o $@
