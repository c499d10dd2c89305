find_package(nlohmann_json REQUIRED)
target_link_libraries(luminal_train PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
